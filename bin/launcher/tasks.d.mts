/** What runs a task, as arguments for Node. For the benchmark, which starts what its users start. */
export function commandOf(task: 'command', root: string): string[]
/** What is in a task's environment unless the user says otherwise. */
export function environmentOf(task: 'command'): Record<string, string>
