import { hostname } from 'node:os'
import { VERSION } from '../process/version.ts'

/** Matches version, process id and host in the name of a connection. */
export const PROCESS_NAME = /^patchbay\/(\S+) (\d+)@(.*)$/

/** Returns the name of this process's connections, of which PostgreSQL keeps the first 63 bytes. */
export const processName = (): string => `patchbay/${VERSION} ${process.pid}@${hostname()}`
