import { channel } from 'node:diagnostics_channel'
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Notices } from './notices.ts'

/** How often the watch tries to open a file. Refused connections cause no error in this process. */
const PROBE_INTERVAL_MS = 1_000
/** The problem ends this long after the last failure. */
const SHORTAGE_MS = 30_000

const MESSAGE =
  'Patchbay has run out of file descriptors, so connections are refused and requests fail. Raise the limit ' +
  '(ulimit -n, LimitNOFILE in systemd, --ulimit nofile in Docker).'

/** Carries errors of the code EMFILE (limit of the process) or ENFILE (limit of the system). */
const shortages = channel('patchbay:file-descriptor-shortage')

/** Reports an error of any origin to the watch if it means that no file descriptor was left. */
export const noteShortage = (error: unknown): void => {
  if (error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')) {
    shortages.publish(error)
  }
}

const probe = (): void => {
  try {
    closeSync(openSync(devNull, 'r'))
  } catch (error) {
    noteShortage(error)
  }
}

/** Reports in `notices` while the process has no file descriptors left. */
export const watchFileDescriptors = (notices: Notices) => {
  let endsAt = 0
  const onShortage = (error: unknown): void => {
    endsAt = performance.now() + SHORTAGE_MS
    notices.raise({ name: 'file_descriptors', level: 'problem', message: MESSAGE }, { err: error })
  }
  shortages.subscribe(onShortage)
  const timer = setInterval(() => {
    probe()
    if (performance.now() > endsAt) notices.clear('file_descriptors')
  }, PROBE_INTERVAL_MS).unref()
  return {
    close: (): void => {
      clearInterval(timer)
      shortages.unsubscribe(onShortage)
    },
  }
}
