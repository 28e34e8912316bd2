import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { COMMANDS } from '../test/tools/import/curl-commands.ts'
import { startRecorder } from '../test/tools/import/recorded-curl.ts'

// `node scripts/record-curl.ts`: records what the installed curl sends for the commands of the tests. Then format.

const FILE = join(import.meta.dirname, '../test/tools/import/curl-recordings.json')

const recorder = await startRecorder()
try {
  const recordings: Record<string, unknown> = {}
  for (const command of COMMANDS) {
    const message = await recorder.record(command)
    if (message === undefined) throw new Error(`curl sends nothing for: ${command}`)
    recordings[command] = message
  }
  await writeFile(FILE, `${JSON.stringify(recordings, null, 2)}\n`)
  console.log(`${COMMANDS.length} commands recorded`)
} finally {
  await recorder.close()
}
