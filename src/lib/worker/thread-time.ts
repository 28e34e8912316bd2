/** What this thread has taken of a core since it began, in milliseconds. */
export const threadTimeMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
