import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where a worker's module is: the source under Node's type stripping, its compiled form in dist, as `beside` is. */
export const findWorker = (name: string, beside: string): string =>
  fileURLToPath(new URL(`${name}${extname(beside)}`, beside))
