import { Command } from 'commander'
import { serve } from '../main.ts'

export const serveCommand = (): Command =>
  new Command('serve')
    .description('run Patchbay until it is told to stop (SIGTERM or Ctrl-C)')
    .option('--json', 'for symmetry with the other commands; the log is JSON already')
    .action(async () => {
      process.exitCode = await serve()
    })
