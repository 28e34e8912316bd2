// Keeps a large answer in the directory of its argument, says so, and waits to be killed.
import { createAnswerCache } from '../../../src/results/cut-cache/cut-cache.ts'
import { answerHolderOf } from '../../../src/results/cut-cache/cache-key.ts'

const [directory = ''] = process.argv.slice(2)
const cache = createAnswerCache({ directory })
const holder = answerHolderOf(undefined)
const cacheId = await cache.keep({ serverId: 'server-1', holder, content: 'x'.repeat(700 * 1_024), about: {} })
process.stdin.resume()
process.stdout.write(`${cacheId}\n`)
