import { signUp } from '../../support/api-client.ts'
import { startTestApp } from '../../support/app.ts'
import { document, readAll } from '../reading.ts'
import { callOperations, judge, type Verdict } from './call-operations.ts'
import { reasonToBeWrong, reasonToLeaveOut } from './expectations.ts'
import { DESCRIPTIONS, startTestServer, type TestServer } from './test-server.ts'

/** Counts the operations that are not called, by their reasons. */
const countLeftOut = async ({ read }: Pick<TestServer, 'read'>): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {}
  for (const name of DESCRIPTIONS) {
    const { operations } = await readAll([document(read(name), `${name}.json`)])
    for (const operation of operations) {
      const reason = reasonToLeaveOut(`${name} ${operation.operationId ?? operation.key}`, operation)
      if (reason !== undefined) counts[reason] = (counts[reason] ?? 0) + 1
    }
  }
  return counts
}

/** Calls all operations of autorest's test server through Patchbay. Returns the figures, and the calls that are wrong. */
export const callAll = async () => {
  const server = await startTestServer()
  const patchbay = await startTestApp()
  try {
    const builder = await signUp(patchbay.origin)
    const verdicts: Verdict[] = []
    for (const name of DESCRIPTIONS) verdicts.push(...judge(await callOperations(name, server, builder)))
    const wrong = verdicts.filter(({ isRight }) => !isRight)
    return {
      called: verdicts.length,
      right: verdicts.length - wrong.length,
      wrong: wrong.map(({ key }) => ({ key, reason: reasonToBeWrong(key) ?? 'unknown' })),
      unknown: verdicts.filter(({ isKnown }) => !isKnown),
      leftOut: await countLeftOut(server),
    }
  } finally {
    await patchbay.close()
    await server.close()
  }
}
