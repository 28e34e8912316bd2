/**
 * The benchmark: what Patchbay takes, beside the least that could answer the same (`floor.ts`), on one machine, in one
 * run. See README.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createBench } from './bench.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { describeMachine, renderMachine, renderTable, toFigureTable, verdictOf } from './report.ts'
import { runAccess } from './scenarios/access.ts'
import { runAnswers } from './scenarios/answers.ts'
import { runBudget } from './scenarios/budget.ts'
import { runCalls } from './scenarios/calls.ts'
import { runChanges } from './scenarios/changes.ts'
import { runFinding } from './scenarios/finding.ts'
import { runMemory } from './scenarios/memory.ts'
import { runPages } from './scenarios/pages.ts'
import { runPassthrough } from './scenarios/passthrough.ts'
import { runReach } from './scenarios/reach.ts'
import { runResident } from './scenarios/resident.ts'
import { runStart } from './scenarios/start.ts'
import { runUpstreamStart } from './scenarios/upstream-start.ts'
import { runUpstreams } from './scenarios/upstreams.ts'

/** Characters of the servers' log that are shown when something breaks. */
const LOG_TAIL = 4_000

const run = async (options: Options): Promise<number> => {
  const bench = createBench(options)
  const { figures, tables, broken } = bench.results
  const machine = describeMachine(bench.rig.isPinned)
  const scenarios = [
    { title: 'calls and lists', isWanted: options.only.has('calls') || options.only.has('lists'), run: runCalls },
    { title: 'access', isWanted: options.only.has('access'), run: runAccess },
    { title: 'budget', isWanted: options.only.has('budget'), run: runBudget },
    { title: 'memory of sessions and streams', isWanted: options.only.has('memory'), run: runMemory },
    { title: 'memory of servers in use', isWanted: options.only.has('memory'), run: runResident },
    { title: 'start', isWanted: options.only.has('start'), run: runStart },
    { title: 'a change to many streams', isWanted: options.only.has('changes'), run: runReach },
    { title: 'changes under load', isWanted: options.only.has('changes'), run: runChanges },
    { title: 'pages', isWanted: options.only.has('pages'), run: runPages },
    { title: 'upstreams', isWanted: options.only.has('upstreams'), run: runUpstreams },
    { title: 'answers', isWanted: options.only.has('answers'), run: runAnswers },
    { title: 'passthrough', isWanted: options.only.has('passthrough'), run: runPassthrough },
    { title: 'finding tools', isWanted: options.only.has('finding'), run: runFinding },
    { title: 'start with upstreams', isWanted: options.only.has('upstreams'), run: runUpstreamStart },
  ]
  const end = async () => {
    await bench.close()
    process.exit(130)
  }
  process.once('SIGINT', end)
  process.once('SIGTERM', end)

  try {
    for (const scenario of scenarios) {
      if (!scenario.isWanted) continue
      bench.say(`-- ${scenario.title}`)
      try {
        await scenario.run(bench)
      } catch (error) {
        bench.addBroken(`${scenario.title}: ${error instanceof Error ? error.message : error}`)
        bench.say(`the last lines of the log:\n${readFileSync(bench.logFile, 'utf8').slice(-LOG_TAIL)}`)
      }
      await bench.rig.stopAll()
    }
  } finally {
    await bench.close()
  }

  console.log(`Patchbay benchmark${options.quick ? ', quick: too short to compare' : ''}\n${renderMachine(machine)}`)
  for (const table of tables) console.log(`\n${renderTable(table)}`)
  if (figures.length > 0) console.log(`\n${renderTable(toFigureTable(figures))}`)
  if (broken.length > 0) console.log(`\nBroken:\n${broken.map(line => `  ${line}`).join('\n')}`)
  if (options.json !== undefined) {
    const judged = figures.map(figure => ({ ...figure, verdict: verdictOf(figure) }))
    writeFileSync(options.json, `${JSON.stringify({ machine, figures: judged, tables, broken }, null, 2)}\n`)
  }
  const isBroken = broken.length > 0 || figures.some(figure => verdictOf(figure) === 'BROKEN')
  const isMissed = figures.some(figure => verdictOf(figure) === 'MISS')
  return isBroken || (options.strict && isMissed) ? 1 : 0
}

const parse = (): Options | undefined => {
  try {
    return parseOptions(process.argv.slice(2))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

const options = parse()
if (options === undefined) console.log(USAGE)
else process.exitCode = await run(options)
