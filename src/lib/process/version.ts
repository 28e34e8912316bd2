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

/** Whether this is the built program, and not its sources. */
export const IS_BUILT = import.meta.url.endsWith('.js')
const PUBLIC_DIRECTORY = fileURLToPath(new URL('public/', ROOT))
/** Folders of the assets. The first one that has a file counts: the build contains the scripts in a form for browsers. */
export const ASSET_DIRECTORIES: readonly string[] = IS_BUILT
  ? [fileURLToPath(new URL('dist/public/', ROOT)), PUBLIC_DIRECTORY]
  : [PUBLIC_DIRECTORY]
