/** Settings of the log lines. */
import { z } from 'zod';
import { choice } from '../forms.ts';
import { settingTraits } from '../traits.ts';

export const logSection = z
  .strictObject({
    level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .default('info')
      .describe('The least important level that is logged.')
      .register(settingTraits, { env: 'LOG_LEVEL' }),
    format: choice(['json', 'pretty'])
      .nullable()
      .default(null)
      .describe('How log lines are written; null means pretty on a terminal and JSON elsewhere.')
      .register(settingTraits, { env: 'LOG_FORMAT' }),
  })
  .describe('The log.');
