/** Warnings before something becomes a problem. */
export const WARNING_NAMES = [
  'memory_high',
  'disk_low',
  'file_descriptors_low',
  'event_loop_slow',
  'history_behind',
] as const

/** What can be wrong with a running process. Each name is also a label in `/metrics`. */
export const NOTICE_NAMES = [
  'database_unreachable',
  'database_damaged',
  'database_unwritable',
  'file_descriptors',
  'unnamed_proxy',
  ...WARNING_NAMES,
] as const
export type NoticeName = (typeof NOTICE_NAMES)[number]

/** `problem` means that something does not work. `advice` means that a setting should be changed. */
export type Notice = {
  name: NoticeName
  level: 'problem' | 'advice'
  message: string
  /** When it ends unless it is raised again, in milliseconds since 1970. Default: when it is cleared. */
  until?: number
}

type Log = (details: object, message: string) => void

/**
 * Creates the list of what is wrong with this process at the moment, which `/readyz`, the operator's page, `doctor` and
 * `/metrics` show. Logs when a notice appears or a problem ends, and not in between.
 */
export const createNotices = (logger: { warn: Log; error: Log; info: Log }) => {
  const current = new Map<NoticeName, Notice>()
  const find = (name: NoticeName): Notice | undefined => {
    const notice = current.get(name)
    return notice?.until !== undefined && notice.until < Date.now() ? undefined : notice
  }
  return {
    raise: (notice: Notice, details: object = {}): void => {
      const isNew = find(notice.name) === undefined
      current.set(notice.name, notice)
      if (!isNew) return
      if (notice.level === 'problem') logger.error({ problem: notice.name, ...details }, notice.message)
      else logger.warn({ advice: notice.name, ...details }, notice.message)
    },
    clear: (name: NoticeName): void => {
      if (current.delete(name)) logger.info({ problem: name }, 'a problem has ended')
    },
    has: (name: NoticeName): boolean => find(name) !== undefined,
    list: (level?: Notice['level']): Notice[] =>
      [...current.keys()]
        .flatMap(name => find(name) ?? [])
        .filter(notice => level === undefined || notice.level === level),
  }
}
export type Notices = ReturnType<typeof createNotices>
