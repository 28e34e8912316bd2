/**
 * `npm run descriptions`: reads API descriptions from npm packages, checks the tools, validates their schemas with two
 * validators, and compares their requests with those of swagger-client. Then calls all operations of autorest's test
 * server. Exits with 1 if one of them is wrong and is not known to be. The packages are not installed, only unpacked.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { validate } from '@hyperjump/json-schema/draft-2020-12'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { load } from 'js-yaml'
import { isJsonObject } from '../src/lib/kernel/json.ts'
import { toShownTool } from '../src/tools/shown-tool.ts'
import { callAll } from '../test/imports/autorest/call-all.ts'
import { compareRequests, isDeparture } from '../test/imports/golden.ts'
import { isTool, readAll } from '../test/imports/reading.ts'

const PACKAGES = [
  ['@figma/rest-api-spec@0.43.0', 'openapi/openapi.yaml'],
  ['@netlify/open-api@2.60.0', 'dist/swagger.json'],
  ['@scalar/galaxy@0.6.12', 'dist/3.1.yaml'],
  ['@okta/openapi@2.15.0', 'dist/spec.json'],
  ['@twilio/cli-core@9.0.0', 'src/services/twilio-api/*.json'],
  ['@octokit/openapi@23.0.2', 'generated/api.github.com.json'],
  ['@directus/specs@15.2.0', 'dist/openapi.json'],
  ['@blockfrost/openapi@0.1.93', 'openapi.yaml'],
  ['rclone-openapi@1.75.0', 'openapi.json'],
  ['shipengine-openapi@1.4.0', 'openapi.json'],
  ['kubernetes-client@9.0.0', 'lib/specs/swagger-1.13.json.gz'],
] as const

/** The share of operations of the test server that must be right. */
const MIN_RIGHT = 0.97

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const isValid2020 = await validate('https://json-schema.org/draft/2020-12/schema')

/** Prints the differences that are not known, and returns how many faults there are. */
const checkFile = async (name: string, file: string) => {
  const bytes = readFileSync(file)
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  const root: unknown = text.startsWith('{') ? JSON.parse(text) : load(text)
  const startedAt = performance.now()
  const { operations } = await readAll([{ name, bytes }])
  const readMs = Math.round(performance.now() - startedAt)
  const mapped = operations.filter(isTool)
  const differences = await compareRequests(mapped, isJsonObject(root) ? root : {})
  const unknown = differences.filter(one => !isDeparture(one))
  const schemas = mapped.flatMap(({ tool, outputSchema = {} }) => [toShownTool(tool).inputSchema, outputSchema])
  const invalid = schemas.filter(schema => ajv.validateSchema(schema) !== true || !isValid2020(schema).valid)
  const errors = mapped.flatMap(({ findings }) => findings.filter(({ level }) => level === 'error'))
  const reasons = new Set(operations.flatMap(one => ('reason' in one ? [one.reason] : [])))
  const refused = [...reasons].filter(reason => reason.startsWith('It cannot become a tool'))
  for (const one of [...unknown, ...invalid, ...errors]) console.log(one)
  for (const reason of reasons) console.log(`  ${name}: ${reason}`)
  return {
    operations: operations.length,
    tools: mapped.length,
    different: new Set(differences.map(({ key }) => key)).size,
    schemas: schemas.length,
    invalid: invalid.length,
    refused: refused.length,
    errors: errors.length,
    faults: unknown.length + invalid.length + refused.length + errors.length,
    readMs,
  }
}

const checkPackage = async (name: string, pattern: string, folder: string) => {
  mkdirSync(folder, { recursive: true })
  const packed = execFileSync('npm', ['pack', name, '--silent'], { cwd: folder, encoding: 'utf8' }).trim()
  execFileSync('tar', ['xzf', packed], { cwd: folder })
  const sum: Record<string, number> = {}
  for (const file of globSync(join(folder, 'package', pattern)).sort()) {
    const found = await checkFile(name, file)
    for (const [key, value] of Object.entries(found)) sum[key] = (sum[key] ?? 0) + value
  }
  return sum
}

const rows: Record<string, Awaited<ReturnType<typeof checkPackage>>> = {}
const scratch = mkdtempSync(join(tmpdir(), 'patchbay-descriptions-'))
try {
  for (const [index, [name, pattern]] of PACKAGES.entries()) {
    rows[name] = await checkPackage(name, pattern, join(scratch, String(index)))
  }
} finally {
  rmSync(scratch, { recursive: true })
}
console.table(rows)

const { called, right, wrong, unknown, leftOut } = await callAll()
console.log(`Autorest's test server accepts ${right} of ${called} operations. Not called:`, leftOut)
console.table(wrong)
for (const verdict of unknown) console.dir(verdict, { depth: 4 })
const isRight = right > called * MIN_RIGHT && unknown.length === 0
process.exitCode = isRight && Object.values(rows).every(({ faults = 0 }) => faults === 0) ? 0 : 1
