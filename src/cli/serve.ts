import { Command } from 'commander'
import { serve } from '../main.ts'

export const serveCommand = (): Command =>
  new Command('serve')
    .description('run Patchbay until it is told to stop (SIGTERM or Ctrl-C)')
    .option('--json', 'say as JSON that it is ready; the log is JSON already')
    .action(async (options: { json?: boolean }) => {
      process.exitCode = await serve(options)
    })
