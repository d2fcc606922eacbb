/**
 * Who receives notices: each *addressee* that is configured gets a delivery of its own, which is tried, repeated and given up by itself, so that
 * a mail server that is away holds up no webhook.
 *
 * The ledger keeps the order of deliveries by their feed. A delivery to another addressee than the webhook is entered under
 * `feed@addressee`, which is the name of no feed, so that each addressee has an order of its own.
 */
import type { Config } from '#src/config/schema.ts';
import { type NewDelivery, newDeliveryId } from '#src/ledger/deliveries.ts';

const addresseeNames = ['webhook', 'slack', 'teams', 'mail'] as const;
export type Addressee = (typeof addresseeNames)[number];

/** For log lines and messages. */
export const addresseeWords: Readonly<Record<Addressee, string>> = {
  webhook: 'the webhook',
  slack: 'Slack',
  teams: 'Teams',
  mail: 'the mail server',
};

type Notify = Config['notify'];

/** The addressees that are configured. */
export function addresseesOf({ url, slack, teams, mail }: Notify): readonly Addressee[] {
  const set = { webhook: url, slack: slack.url, teams: teams.url, mail: mail.server };
  return addresseeNames.filter((name) => set[name] !== null);
}

/** A delivery to each addressee, each with an id of its own. */
export function addressedTo(addressees: readonly Addressee[], delivery: NewDelivery): readonly NewDelivery[] {
  return addressees.map((addressee, index) => ({
    ...delivery,
    id: index === 0 ? delivery.id : newDeliveryId(),
    feed: addressee === 'webhook' ? delivery.feed : `${delivery.feed}@${addressee}`,
  }));
}

/** The feed and the addressee of a delivery, from the name that it was entered under. */
export function addressOf(entered: string): { readonly feed: string; readonly addressee: Addressee } {
  const at = entered.lastIndexOf('@');
  const addressee = addresseeNames.find((name) => name === entered.slice(at + 1));
  return at === -1 || addressee === undefined
    ? { feed: entered, addressee: 'webhook' }
    : { feed: entered.slice(0, at), addressee };
}
