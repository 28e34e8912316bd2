// Runs as another process on the same database, configured by the environment like the command line. Arguments: the id
// of a user, the id of an instance, and its new name.
import { createLogger } from '../../../src/lib/process/logger.ts'
import { loadSettings } from '../../../src/lib/process/settings.ts'
import { buildServices } from '../../../src/services.ts'

const [userId = '', instanceId = '', name = ''] = process.argv.slice(2)
const services = await buildServices(loadSettings(), createLogger('silent'))
const actor = await services.accounts.findActorByUserId(userId)
if (actor === undefined) throw new Error('there is no such user')
await services.instances.updateInstance(actor, instanceId, { name })
await services.close()
