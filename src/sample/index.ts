export { SAMPLE_ORIGIN, sampleApi } from './sample-api.ts'
export { SAMPLE_TITLE, SAMPLE_TOOLS } from './sample-toolkit.ts'
