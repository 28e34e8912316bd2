declare module 'swagger-client' {
  type Request = {
    url: string
    method: string
    headers: Readonly<Record<string, unknown>>
    body?: unknown
  }
  type Options = {
    spec: object
    operationId: string
    parameters?: Readonly<Record<string, unknown>>
    requestBody?: unknown
    requestContentType?: string | undefined
    baseURL?: string
    securities?: { authorized: Readonly<Record<string, unknown>> }
  }
  const SwaggerClient: { buildRequest: (options: Options) => Request }
  export default SwaggerClient
}
