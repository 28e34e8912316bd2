import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { describe, expect, it, vi } from 'vitest'
import { buildProgram } from '../../src/cli/program.ts'
import { follow, PROGRAM, runCommand, runSharedCommand, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Returns all command lines without the leading `patchbay`, such as `user create`. */
const namesOf = (command: Command, before: readonly string[] = []): string[][] =>
  command.commands.flatMap(child => {
    const name = [...before, child.name()]
    return [name, ...namesOf(child, name)]
  })
const loadCommand = async (name: string): Promise<Command[]> =>
  (await buildProgram([name])).commands.filter(command => command.name() === name)
const names = (await buildProgram([])).commands.map(command => command.name())
const commands = (await Promise.all(names.map(loadCommand)))
  .flat()
  .flatMap(command => [[command.name()], ...namesOf(command, [command.name()])])
/** Commands that do something without a subcommand, too. */
const WITH_SUBCOMMANDS = ['import']
const runnable = commands.filter(
  name =>
    WITH_SUBCOMMANDS.includes(name.join(' ')) ||
    !commands.some(other => other.length > name.length && other[0] === name[0]),
)

describe('the command line', () => {
  it('has the expected commands', () => {
    expect(runnable.map(name => name.join(' ')).sort()).toEqual(
      [
        'demo',
        'doctor',
        'import',
        'import curl',
        'import har',
        'import openapi',
        'import postman',
        'key generate',
        'migrate',
        'serve',
        'stdio',
        'token create',
        'user create',
        'user disable',
        'user list',
        'user reset-password',
        'user reset-second-factor',
        'user restore',
      ].sort(),
    )
  })

  it.concurrent.each([[], ...commands].map(name => ({ name })))(
    'explains $name with --help, and exits with 0',
    async ({ name }) => {
      const { code, stdout, stderr } = await runSharedCommand([...name, '--help'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain(`Usage: ${['patchbay', ...name].join(' ')}`)
      if (runnable.includes(name)) expect(stdout).toContain('--json')
    },
  )

  it.concurrent.each([
    [['nonsense']],
    [['serve', '--nonsense']],
    [['migrate', 'extra']],
    [['user', 'create', '--email', 'ada@example.com']],
    [['user', 'create', '--password', 'correct horse battery', '--email']],
    [['stdio']],
    [['stdio', '--server', '00000000-0000-4000-8000-000000000000', '--config', 'mcp.json']],
    [['token', 'create', '--email', 'ada@example.com', '--name', 'x', '--scopes', 'read,everything']],
    [['token', 'create', '--email', 'ada@example.com', '--name', 'x', '--expires-in-days', 'soon']],
  ])('responds to bad usage with one line and exit code 2: %j', async args => {
    const { code, stdout, stderr } = await runSharedCommand(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^patchbay: [^\n]+\n$/)
  })

  it.concurrent.each([
    { args: ['serv'], error: 'Unknown command "serv". Did you mean "serve"?' },
    { args: ['serv', '--config', 'mcp.json'], error: 'Unknown command "serv". Did you mean "serve"?' },
    { args: ['user', 'craete'], error: 'Unknown command "craete". Did you mean "create"?' },
    { args: ['demo', '--jsn'], error: 'Unknown option "--jsn". Did you mean "--json"?' },
    // The required option that was meant is not reported as missing.
    {
      args: ['user', 'create', '--emial', 'ada@example.com', '--password', 'correct horse battery'],
      error: 'Unknown option "--emial". Did you mean "--email"?',
    },
    { args: ['user', 'create', '--pasword=correct horse battery'], error: 'Unknown option "--pasword".' },
    { args: ['nonsense'], error: 'Unknown command "nonsense".' },
    { args: ['x\n(Did you mean serve?)'], error: 'Unknown command "x\u{fffd}(Did you mean serve?)".' },
  ])('names what is unknown and what is nearest to it: $args', async ({ args, error }) => {
    const { code, stdout, stderr } = await runSharedCommand(args)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `patchbay: ${error}\n` })
  })

  it.concurrent.each([
    { args: [], run: runCommand },
    { args: ['user'], run: runSharedCommand },
  ])('shows its commands and exits with 2 if none is given: $args', async ({ args, run }) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: patchbay/)
  })

  it.concurrent('lists every command with a description', async () => {
    const { code, stdout } = await runSharedCommand(['--help'])
    expect(code).toBe(0)
    for (const name of names) expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\w`, 'm'))
  })

  it.concurrent('shows the same text for `help serve` and `serve --help`', async () => {
    const asked = await runSharedCommand(['help', 'serve'])
    const direct = await runSharedCommand(['serve', '--help'])
    expect(asked.stdout).toContain('--config <file>')
    expect(asked.stdout).toBe(direct.stdout)
  })

  it.concurrent('reports a failure with one line and exit code 1, also with --json', async () => {
    const args = ['token', 'create', '--email', 'nobody@example.com', '--name', 'x']
    for (const flags of [[], ['--json']]) {
      const { code, stdout, stderr } = await runSharedCommand([...args, ...flags])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^patchbay: [^\n]*nobody@example\.com[^\n]*\n$/)
    }
  })

  it.concurrent('ignores a closed standard output', async () => {
    const line = `"${process.execPath}" "${PROGRAM}" doctor | true; exit 0`
    const child = spawn('sh', ['-c', line], { cwd: temporaryDirectory(), stdio: ['ignore', 'ignore', 'pipe'] })
    const { stderr } = await follow(child).ended
    expect(stderr).not.toMatch(/EPIPE|\n\s+at /)
  })
})
