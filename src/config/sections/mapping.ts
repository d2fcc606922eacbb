/** Settings of how a row becomes a contact (`rules.md`, "What a cell means"). */
import { z } from 'zod';
import { checkedText, choice, path } from '../forms.ts';
import { settingTraits } from '../traits.ts';

const expectedCountry = 'a country code of two capital letters such as US or DE';

export const mappingSection = z
  .strictObject({
    defaultCountry: checkedText(expectedCountry, (text) => (/^[A-Z]{2}$/.test(text) ? null : expectedCountry))
      .nullable()
      .default(null)
      .describe('The country of phone numbers that are written without one; null means that such a row is dead.'),
    onBlank: choice(['keep', 'clear'])
      .default('keep')
      .describe("What a blank cell does to the contact's field: keep it or clear it."),
    file: path()
      .nullable()
      .default(null)
      .describe('The mapping file of the feed main; null means that the layout is recognised by its headers.')
      .register(settingTraits, { path: true }),
  })
  .describe('How a row of a file becomes a contact.');
