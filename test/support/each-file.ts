import { afterAll } from 'vitest'
import { endFile } from './end-of-file.ts'
import './patience.ts'

// Vitest's setupFiles: runs anew before each test file.
afterAll(endFile)
