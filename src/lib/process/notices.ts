/** What can be wrong with a running process. Each name is also a label in `/metrics`. */
export const NOTICE_NAMES = [
  'database_unreachable',
  'database_damaged',
  'database_unwritable',
  'file_descriptors',
  'unnamed_proxy',
] as const
export type NoticeName = (typeof NOTICE_NAMES)[number]

/** `problem` means that something does not work. `advice` means that a setting should be changed. */
export type Notice = { name: NoticeName; level: 'problem' | 'advice'; message: string }

type Log = (details: object, message: string) => void

/**
 * Creates the list of what is wrong with this process at the moment, which `/readyz`, the operator's page, `doctor` and
 * `/metrics` show. Logs when a notice appears or a problem ends, and not in between.
 */
export const createNotices = (logger: { warn: Log; error: Log; info: Log }) => {
  const current = new Map<NoticeName, Notice>()
  return {
    raise: (notice: Notice, details: object = {}): void => {
      const isNew = !current.has(notice.name)
      current.set(notice.name, notice)
      if (!isNew) return
      if (notice.level === 'problem') logger.error({ problem: notice.name, ...details }, notice.message)
      else logger.warn({ advice: notice.name, ...details }, notice.message)
    },
    clear: (name: NoticeName): void => {
      if (current.delete(name)) logger.info({ problem: name }, 'a problem has ended')
    },
    has: (name: NoticeName): boolean => current.has(name),
    list: (level?: Notice['level']): Notice[] =>
      [...current.values()].filter(notice => level === undefined || notice.level === level),
  }
}
export type Notices = ReturnType<typeof createNotices>
