import { runProgram } from '../run-program.mjs'

export const use = async ({ url, headers }) => {
  const config = { mcpServers: { patchbay: { url, headers } } }
  const inFolder = { files: { 'mcporter.json': JSON.stringify(config) } }
  const listed = await runProgram('mcporter', ['--config', 'mcporter.json', 'list', 'patchbay', '--json'], inFolder)
  const called = await runProgram(
    'mcporter',
    ['--config', 'mcporter.json', 'call', 'patchbay.get_user', 'id=42'],
    inFolder,
  )
  return { tools: JSON.parse(listed).tools.map(({ name }) => name), text: called }
}
