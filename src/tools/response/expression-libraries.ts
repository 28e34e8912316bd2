import { createRequire } from 'node:module'
import type jsonata from 'jsonata'

/** A token of an expression. `start` is its offset. */
type Token = { start: number; value: unknown }
type Jmespath = { compile: (expression: string) => unknown; tokenize: (expression: string) => Token[] }

// Loaded for the first expression, because most installations have none. Both libraries are CommonJS.
const require = createRequire(import.meta.url)

export const loadJsonata = (): typeof jsonata => require('jsonata')
export const loadJmespath = (): Jmespath => require('jmespath')

/** Paths of the libraries that a sandbox loads. */
export const libraryFiles = (): Readonly<Record<'jsonata' | 'jmespath', string>> => ({
  jsonata: require.resolve('jsonata'),
  jmespath: require.resolve('jmespath'),
})
