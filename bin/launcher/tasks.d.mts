/** What runs a task, as arguments for Node. For the benchmark, which starts what its users start. */
export function commandOf(task: 'command', root: string): string[]
