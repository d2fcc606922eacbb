/**
 * JSON as it came, for tests that look into it by member.
 *
 * Tests of the service and of the page hold replies against literals, never against the schemas of `src`: one wrong
 * schema could then hide on both sides. With `unknown`, each member that is looked at would need a cast that says no more.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above; the one place of the tests that has it
export type LiteralJson = any;
