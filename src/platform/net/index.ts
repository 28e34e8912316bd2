export * from './address-policy.ts'
export * from './client.ts'
export * from './http-client.ts'
export * from './trusted-fetch.ts'
