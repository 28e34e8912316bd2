/** The benchmark: the cost of Patchbay compared with that of a minimal server (`floor.ts`). See README.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createBench } from './bench.ts'
import { readCheckouts } from './checkouts.ts'
import { summarizeComparison, toComparisonTable } from './comparison.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { describeMachine, renderMachine, renderTable, toFigureTable, verdictOf } from './report.ts'
import { runAccess } from './scenarios/access.ts'
import { runAnswers } from './scenarios/answers.ts'
import { measureFrozen } from './scenarios/answers-frozen.ts'
import { runBudget } from './scenarios/budget.ts'
import { runCalls } from './scenarios/calls.ts'
import { runChanges } from './scenarios/changes.ts'
import { runFinding } from './scenarios/finding.ts'
import { runHistory } from './scenarios/history.ts'
import { runImports } from './scenarios/imports.ts'
import { runMemory } from './scenarios/memory.ts'
import { runMemoryInUse } from './scenarios/memory-in-use.ts'
import { runNeighbours } from './scenarios/neighbours.ts'
import { runNotifications } from './scenarios/notifications.ts'
import { runOutbox } from './scenarios/outbox.ts'
import { runPages } from './scenarios/pages.ts'
import { runPassthrough } from './scenarios/passthrough.ts'
import { runProfile } from './scenarios/profile.ts'
import { runStart } from './scenarios/start.ts'
import { runUpstreamStart } from './scenarios/upstream-start.ts'
import { runUpstreams } from './scenarios/upstreams.ts'

/** Number of characters from the end of the servers' log that are printed when a scenario fails. */
const LOG_TAIL = 4_000

const run = async (options: Options, checkouts: Awaited<ReturnType<typeof readCheckouts>>): Promise<number> => {
  const bench = createBench(options, checkouts)
  const { figures, tables, comparisons, broken } = bench.results
  const machine = describeMachine(bench.rig.isPinned)
  const scenarios = [
    { title: 'calls and lists', isWanted: options.only.has('calls') || options.only.has('lists'), run: runCalls },
    { title: 'access', isWanted: options.only.has('access'), run: runAccess },
    { title: 'budget', isWanted: options.only.has('budget'), run: runBudget },
    { title: 'memory of sessions and streams', isWanted: options.only.has('memory'), run: runMemory },
    { title: 'memory of servers in use', isWanted: options.only.has('memory'), run: runMemoryInUse },
    { title: 'start', isWanted: options.only.has('start'), run: runStart },
    { title: 'notifications of a change', isWanted: options.only.has('changes'), run: runNotifications },
    { title: 'changes under load', isWanted: options.only.has('changes'), run: runChanges, isOwnOnly: true },
    { title: 'pages', isWanted: options.only.has('pages'), run: runPages },
    { title: 'imports', isWanted: options.only.has('imports'), run: runImports },
    { title: 'upstreams', isWanted: options.only.has('upstreams'), run: runUpstreams },
    { title: 'answers', isWanted: options.only.has('answers'), run: runAnswers, isOwnOnly: true },
    { title: 'facts of frozen results', isWanted: options.only.has('facts'), run: measureFrozen, isOwnOnly: true },
    { title: 'passthrough', isWanted: options.only.has('passthrough'), run: runPassthrough },
    { title: 'finding tools', isWanted: options.only.has('finding'), run: runFinding, isOwnOnly: true },
    { title: 'noisy neighbours', isWanted: options.only.has('neighbours'), run: runNeighbours },
    { title: 'outbox', isWanted: options.only.has('outbox'), run: runOutbox, isOwnOnly: true },
    { title: 'history', isWanted: options.only.has('history'), run: runHistory, isOwnOnly: true },
    { title: 'profile', isWanted: options.only.has('profile'), run: runProfile, isOwnOnly: true },
    { title: 'start with upstreams', isWanted: options.only.has('upstreams'), run: runUpstreamStart },
  ]
  const end = async () => {
    await bench.close()
    process.exit(130)
  }
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  process.once('SIGHUP', end)

  try {
    for (const scenario of scenarios) {
      if (!scenario.isWanted) continue
      if (options.against !== undefined && scenario.isOwnOnly) {
        bench.log(`-- ${scenario.title}: skipped, it cannot be compared`)
        continue
      }
      bench.log(`-- ${scenario.title}`)
      try {
        await scenario.run(bench)
      } catch (error) {
        bench.addBroken(`${scenario.title}: ${error instanceof Error ? error.message : error}`)
        bench.log(`the last lines of the log:\n${readFileSync(bench.logFile, 'utf8').slice(-LOG_TAIL)}`)
      }
      await bench.rig.stopAll()
    }
  } finally {
    await bench.close()
  }

  console.log(
    `Patchbay benchmark${options.quick ? ', quick: too short to mean anything' : ''}\n${renderMachine(machine)}`,
  )
  for (const { name, root } of bench.checkouts) console.log(`${name} checkout: ${root}`)
  for (const table of tables) console.log(`\n${renderTable(table)}`)
  if (figures.length > 0) console.log(`\n${renderTable(toFigureTable(figures))}`)
  if (comparisons.length > 0) {
    console.log(`\n${renderTable(toComparisonTable(comparisons))}\n`)
    for (const line of summarizeComparison(comparisons)) console.log(line)
  }
  if (broken.length > 0) console.log(`\nBroken:\n${broken.map(line => `  ${line}`).join('\n')}`)
  if (options.json !== undefined) {
    const judged = figures.map(figure => ({ ...figure, verdict: verdictOf(figure) }))
    writeFileSync(
      options.json,
      `${JSON.stringify({ machine, figures: judged, comparisons, tables, broken }, null, 2)}\n`,
    )
  }
  const isBroken = broken.length > 0 || figures.some(figure => verdictOf(figure) === 'BROKEN')
  const isMissed = figures.some(figure => verdictOf(figure) === 'MISS')
  const isWorse = comparisons.some(({ verdict }) => verdict === 'worse')
  return isBroken || isWorse || (options.strict && isMissed) ? 1 : 0
}

const main = async (): Promise<number> => {
  const options = parseOptions(process.argv.slice(2))
  if (options !== undefined) return run(options, await readCheckouts(options.against))
  console.log(USAGE)
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
