/** Returns the arguments for Node that run a task. The benchmark uses it to start what users start. */
export function commandOf(task: 'command', root: string): string[]
/** Returns the task's default environment variables. */
export function environmentOf(task: 'command', root: string): Record<string, string>
