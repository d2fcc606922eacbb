/** What descriptions of commands need from the command line: how an action is loaded and run. */

/** What the options hold is what the command's own description says: commander parses, the action names the type. */
export type Action = (options: never, ...rest: never[]) => Promise<number>;

/** Wraps the loading of an action, so that it is called with all options and leaves its exit code. */
export type RunAction = (load: () => Promise<Action>) => (...args: unknown[]) => Promise<void>;
