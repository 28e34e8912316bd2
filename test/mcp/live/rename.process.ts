// Another process on the same database, set up by the environment as the command line is: as the user of the first
// argument it gives the instance of the second the name of the third.
import { createLogger } from '../../src/platform/logger.ts'
import { loadSettings } from '../../src/platform/settings.ts'
import { buildServices } from '../../src/services.ts'

const [userId = '', instanceId = '', name = ''] = process.argv.slice(2)
const services = await buildServices(loadSettings(), createLogger('silent'))
const actor = await services.accounts.findActorByUserId(userId)
if (actor === undefined) throw new Error('there is no such user')
await services.instances.updateInstance(actor, instanceId, { name })
await services.close()
