/** How a download is called. */
import { describe, expect, it } from 'vitest';
import { endingOfType } from '#src/takes/answer-head.ts';
import { dispositionName, downloadName, type NameSources } from '#src/takes/download.ts';

const named = (
  parts: Partial<Omit<NameSources, 'urls' | 'start'>> & { url?: string; start?: string | Buffer } = {},
) => {
  const { url = 'https://files.example.com/crm.csv', start = 'a,b\n', ...others } = parts;
  const urls = [new URL(url)];
  return downloadName({ disposition: null, typeEnding: '', feed: 'crm', ...others, urls, start: Buffer.from(start) });
};
const packed = Buffer.from([0x1f, 0x8b, 8, 0]);

describe('a download is called', () => {
  it('as the server says, without folders', () => {
    expect(named({ disposition: 'attachment; filename="people 2026.csv"' })).toBe('people 2026.csv');
    expect(named({ disposition: 'attachment; filename="../../etc/x.csv"' })).toBe('x.csv');
    expect(named({ disposition: 'attachment; filename=".._.csv"' })).toBe('file.csv');
    expect(named({ disposition: 'attachment; filename="report"', typeEnding: '.json' })).toBe('crm.csv');
  });

  it('as the URL ends, where that is the name of an export', () => {
    expect(named({ url: 'https://files.example.com/a/kunden%20neu.json?token=secret' })).toBe('kunden neu.json');
  });

  it('as the feed, where the end of the URL may be what makes it secret', () => {
    expect(named({ url: 'https://files.example.com/export/9f8a7b6c5d' })).toBe('crm.csv');
    expect(named({ url: 'https://files.example.com/', typeEnding: '.ndjson' })).toBe('crm.ndjson');
    expect(named({ url: 'https://files.example.com/export.php', typeEnding: '.tsv' })).toBe('crm.tsv');
    expect(named({ url: 'https://files.example.com/x', start: '\uFEFF [{"id":1}]' })).toBe('crm.json');
    expect(named({ url: 'https://files.example.com/x', disposition: 'attachment; filename=report.php' })).toBe(
      'report.csv',
    );
  });

  it('by its content type, where the URL names another kind of text and the content agrees', () => {
    const url = 'https://files.example.com/contacts.json?format=csv';
    expect(named({ url, typeEnding: '.csv' })).toBe('contacts.csv');
    expect(named({ url, typeEnding: '.vcf', start: 'BEGIN:VCARD\r\n' })).toBe('contacts.vcf');
    expect(named({ url: 'https://files.example.com/a.csv', typeEnding: '.json', start: '[{"id":1}]' })).toBe('a.json');
    // The server says so of every file.
    expect(named({ url, typeEnding: '.csv', start: '[{"id":1}]' })).toBe('contacts.json');
    expect(named({ url: 'https://files.example.com/a.ndjson', typeEnding: '.json', start: '{"id":1}' })).toBe(
      'a.ndjson',
    );
    expect(named({ url: 'https://files.example.com/a.xlsx', typeEnding: '.csv', start: 'PK\u0003\u0004' })).toBe(
      'a.xlsx',
    );
    expect(named({ url, typeEnding: '.csv', disposition: 'attachment; filename="a.json"' })).toBe('a.json');
  });

  it('as vCards where it is such, and nothing else says so', () => {
    expect(named({ url: 'https://files.example.com/x', start: 'BEGIN:VCARD\r\n' })).toBe('crm.vcf');
  });

  it('with .gz just where its content is packed', () => {
    expect(named({ start: packed })).toBe('crm.csv.gz');
    expect(named({ url: 'https://files.example.com/crm.csv.gz' })).toBe('crm.csv');
    expect(named({ url: 'https://files.example.com/crm.csv.gz', start: packed })).toBe('crm.csv.gz');
  });
});

describe('Content-Disposition', () => {
  it.each([
    ['attachment', null],
    ['attachment; filename=""', null],
    ['attachment; filename=a.csv; size=3', 'a.csv'],
    ['attachment; FileName = "a;b \\"c\\".csv"', 'a;b "c".csv'],
    ['attachment; filename="plain.csv"; filename*=UTF-8\'\'M%C3%BCller.csv', 'Müller.csv'],
    ["attachment; filename*=iso-8859-1'de'M%FCller.csv", 'Müller.csv'],
    ["attachment; filename*=UTF-8''%2e%2e%2fx.csv", 'x.csv'],
    ['attachment; filename="C:\\\\temp\\\\x.csv"', 'x.csv'],
  ])('%s', (header, name) => {
    expect(dispositionName(header)).toBe(name);
  });
});

describe('a content type', () => {
  it.each([
    ['text/csv; charset=utf-8', '.csv'],
    ['Application/JSON', '.json'],
    ['application/vnd.ms-excel', '.csv'],
    ['application/octet-stream', ''],
    [null, ''],
    ['text/html; charset=utf-8', null],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '.xlsx'],
    ['application/zip', '.zip'],
    ['application/vnd.ms-excel.sheet.macroEnabled.12', '.xlsm'],
    ['text/vcard; charset=utf-8', '.vcf'],
    ['text/x-vcard', '.vcf'],
    ['text/directory;profile=vCard', '.vcf'],
    ['application/vnd.api+json', '.json'],
    ['application/vnd.oasis.opendocument.spreadsheet', null],
    ['image/png', null],
    ['constructor', null],
  ])('%s', (type, ending) => {
    expect(endingOfType(type)).toBe(ending);
  });
});
