import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** Root folder of the installation, which contains package.json and migrations. */
const ROOT = new URL('../../../', import.meta.url)

export const VERSION = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))).version

export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('migrations/', ROOT))
export const VIEWS_DIRECTORY = fileURLToPath(new URL('views/', ROOT))
export const PUBLIC_DIRECTORY = fileURLToPath(new URL('public/', ROOT))
