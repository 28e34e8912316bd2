// Entry point of the npm scripts: `node bin/task.mjs <task> [arguments]`. The tasks are defined in launcher/tasks.mjs.
import { launch } from './launcher/launch.mjs'

const [task, ...args] = process.argv.slice(2)
await launch(task, args)
