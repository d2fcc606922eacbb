import { ledgerContract } from '#test/contracts/ledger-contract.ts';
import { openTempLedger } from './support/temp-ledger.ts';

ledgerContract('the ledger in a SQLite file', openTempLedger);
