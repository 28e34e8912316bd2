import { readFileSync } from 'node:fs'
import { createContext, Script } from 'node:vm'
import { libraryFiles } from '../../tools/response/expression-libraries.ts'
import type { TransformLanguage } from '../../tools/response/result-shaping.ts'

/**
 * Script that runs alongside a library in the sandbox. It exchanges only text, so that no outside object gets in.
 * Values that are not JSON, such as functions, are left out. A missing value becomes `null`.
 */
const BRIDGE = `
var btoa = text => {
  const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  let encoded = ''
  for (let at = 0; at < text.length; at += 3) {
    const [a, b, c] = [0, 1, 2].map(offset => text.charCodeAt(at + offset))
    encoded += signs[(a >> 2) & 63] + signs[((a & 3) << 4) | ((b >> 4) & 15)]
    encoded += at + 1 < text.length ? signs[((b & 15) << 2) | ((c >> 6) & 3)] : '='
    encoded += at + 2 < text.length ? signs[c & 63] : '='
  }
  return encoded
}
var atob = encoded => {
  const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  let text = ''
  let bits = 0
  let held = 0
  for (const sign of encoded.replace(/[^A-Za-z0-9+/]/g, '')) {
    held = ((held << 6) | signs.indexOf(sign)) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      text += String.fromCharCode((held >> bits) & 255)
    }
  }
  return text
}
var window = globalThis
const isFunction = value =>
  typeof value === 'function' || (value !== null && typeof value === 'object' && (value._jsonata_lambda || value._jsonata_function))
const write = value => {
  const json = JSON.stringify(value, (_key, member) => (isFunction(member) ? undefined : member))
  return json === undefined ? 'null' : json
}
const explain = error => {
  const said = error !== null && typeof error === 'object' && typeof error.message === 'string' ? error.message : ''
  const at = error !== null && typeof error === 'object' && typeof error.position === 'number' ? error.position : -1
  return JSON.stringify({ message: said === '' ? 'it threw an error' : said, at })
}
const run = {
  jsonata: async (expression, input) => write(await window.jsonata(expression).evaluate(JSON.parse(input))),
  jmespath: async (expression, input) => write(window.jmespath.search(JSON.parse(input), expression)),
}
;(language, expression, input, onEnd) =>
  run[language](expression, input).then(
    json => onEnd(json, ''),
    error => onEnd('', explain(error)),
  )
`

type Run = (
  language: TransformLanguage,
  expression: string,
  input: string,
  onEnd: (json: string, error: string) => void,
) => unknown

/** The result of an expression as JSON, or its error with the offset in the expression if known. */
export type Evaluation = { json: string } | { failed: { message: string; offset: number | undefined } }

const readFailure = (error: string): Evaluation => {
  const { message, at }: { message: string; at: number } = JSON.parse(error)
  return { failed: { message, offset: at < 0 ? undefined : at } }
}

/**
 * Creates a sandbox for untrusted expressions. Each expression runs in a new context that has the JavaScript built-ins
 * but no Node.js APIs and cannot create code from strings. The caller must stop expressions that run too long.
 */
export const createExpressionSandbox = () => {
  const files = libraryFiles()
  const scripts = new Map<TransformLanguage, Script>()
  const bridge = new Script(BRIDGE, { filename: 'expression-sandbox' })
  const scriptOf = (language: TransformLanguage): Script => {
    const known = scripts.get(language)
    if (known !== undefined) return known
    const script = new Script(readFileSync(files[language], 'utf8'), { filename: language })
    scripts.set(language, script)
    return script
  }
  return {
    evaluate: (language: TransformLanguage, expression: string, input: string): Promise<Evaluation> =>
      new Promise(resolve => {
        const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } })
        const run: Run = bridge.runInContext(context)
        scriptOf(language).runInContext(context)
        run(language, expression, input, (json, error) => resolve(error === '' ? { json } : readFailure(error)))
      }),
  }
}
