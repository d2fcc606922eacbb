/** Invented contacts for the public description. */

const scalars = { company: 'Harbor Tea', firstName: 'Ada', lastName: 'Grove', role: 'Buyer' };
const email = { name: 'work', value: 'ada.grove@example.com' };
const phone = { name: 'mobile', value: '+14155550142' };
const origin = { externalId: 'crm-1001', source: 'harbor-crm', sourceUrl: 'https://crm.example.com/people/1001' };
const emailId = '6920f0c2a1b2c3d4e5f60718';
const customFields = [
  { name: 'Seats', key: 'seats', id: '6920f0c2a1b2c3d4e5f6071a', type: 'number', value: 4 },
  { name: 'Interests', key: 'interests', id: '6920f0c2a1b2c3d4e5f6071b', type: 'multi-select', value: ['tea', 'maps'] },
];

const contact = {
  id: '019aa6f3c1d20000a1b2c3d4',
  ...origin,
  defaultFields: {
    ...scalars,
    emails: [{ id: emailId, ...email }],
    phoneNumbers: [{ id: '6920f0c2a1b2c3d4e5f60719', ...phone }],
  },
  customFields,
  createdAt: '2026-11-21T14:00:00.000Z',
  updatedAt: '2026-11-21T14:00:00.000Z',
  createdByUserId: 'USa1b2c3d4e5',
};

export const contactExamples = {
  createBody: {
    defaultFields: { ...scalars, emails: [email], phoneNumbers: [phone] },
    customFields: customFields.map(({ key, value }) => ({ key, value })),
    ...origin,
  },
  updateBody: {
    defaultFields: { ...scalars, role: 'Head of buying', emails: [{ id: emailId, name: 'work', value: null }] },
    customFields: [{ key: 'seats', value: 5 }],
  },
  reply: { data: contact },
  updatedReply: {
    data: {
      ...contact,
      defaultFields: { ...contact.defaultFields, role: 'Head of buying', emails: [] },
      customFields: [
        { name: 'Seats', key: 'seats', type: 'number', value: 5 },
        { name: 'Interests', key: 'interests', type: 'multi-select', value: ['tea', 'maps'] },
      ],
      updatedAt: '2026-11-21T14:05:00.000Z',
    },
  },
  listReply: { data: [contact], totalItems: 1, nextPageToken: null },
} as const;
