import { runProgram } from '../run-program.mjs'

export const use = async ({ url, headers }) => {
  const base = ['--cli', url, '--transport', 'http', '--header', `Authorization: ${headers.Authorization}`, '--method']
  const listed = await runProgram('@modelcontextprotocol/inspector', [...base, 'tools/list'])
  const called = await runProgram('@modelcontextprotocol/inspector', [
    ...base,
    ...['tools/call', '--tool-name', 'get_user', '--tool-arg', 'id=42'],
  ])
  return { tools: JSON.parse(listed).tools.map(({ name }) => name), text: called }
}
