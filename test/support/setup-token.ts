import { createSealing } from '../../src/lib/process/sealing.ts'

/** The master key of the applications that tests start. */
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

const [derived] = createSealing([MASTER_KEY]).derive('setup token')
/** The setup token of the applications that tests start. */
export const SETUP_TOKEN = derived?.key.toString('hex').slice(0, 32) ?? ''
