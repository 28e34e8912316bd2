import { Command } from 'commander'
import { generateMasterKey, keyIdOf } from '../lib/process/sealing.ts'
import { print } from './output.ts'

const generateCommand = (): Command =>
  new Command('generate')
    .description('generate a master key for PATCHBAY_MASTER_KEY')
    .option('--json', 'print one JSON value')
    .action((options: { json?: boolean }) => {
      const key = generateMasterKey()
      print(options, { key, id: keyIdOf(Buffer.from(key, 'base64')) }, [key])
    })

export const keyCommand = (): Command => new Command('key').addCommand(generateCommand())
