// What the npm scripts call: `node bin/task.mjs <task> [arguments]`, the tasks being those of launcher/tasks.mjs.
import { launch } from './launcher/launch.mjs'

const [task, ...args] = process.argv.slice(2)
await launch(task, args)
