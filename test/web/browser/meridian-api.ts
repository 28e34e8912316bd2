const operation = (operationId: string, tag: string, more: object = {}) => ({
  operationId,
  tags: [tag],
  summary: `Does what ${operationId} says, for one shipment`,
  responses: { 200: { description: 'The shipment' } },
  ...more,
})

const shipmentId = {
  name: 'shipmentId',
  in: 'path',
  required: true,
  description: 'Number of the shipment',
  schema: { type: 'string' },
  example: 'KF-2041',
}

const quote = {
  type: 'object',
  required: ['origin'],
  properties: {
    origin: { type: 'string', description: 'Port of departure, as UN/LOCODE' },
    mode: { type: 'string', enum: ['road', 'sea'], description: 'How it travels' },
  },
}

/** Returns the description of an API with tags, a deprecated operation, and one that cannot be imported. */
export const describeMeridian = (origin: string, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Meridian TMS', version: '2026.10' },
  servers: [
    { url: origin, description: 'Here' },
    {
      url: 'https://{region}.meridian-tms.example/api',
      description: 'Production',
      variables: { region: { default: 'eu', enum: ['eu', 'us'] } },
    },
  ],
  security: [{ tms_key: [] }],
  components: { securitySchemes: { tms_key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } } },
  paths: {
    '/v3/quotes': {
      post: operation('createQuote', 'Quotes', {
        requestBody: { required: true, content: { 'application/json': { schema: quote } } },
      }),
    },
    '/v3/shipments/{shipmentId}': {
      get: operation('getShipment', 'Shipments', {
        parameters: [shipmentId, { name: 'mode', in: 'query', schema: { $ref: '#/components/schemas/Lost' } }],
      }),
      delete: operation('deleteShipment', 'Shipments', { parameters: [shipmentId] }),
    },
    '/v2/shipments/merge': { post: operation('mergeShipments', 'Shipments', { deprecated: true }) },
    '/v3/documents': {
      put: operation('uploadDocument', 'Documents', {
        requestBody: { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } },
      }),
    },
  },
  ...more,
})

/** Returns the description of an API with this many operations, in ten tags. */
export const describeLarge = (operations: number) => ({
  openapi: '3.0.3',
  info: { title: 'Large API', version: '1' },
  servers: [{ url: 'https://large.example' }],
  paths: Object.fromEntries(
    Array.from({ length: operations }, (_, index) => [
      `/things/${index}/parts`,
      { get: operation(`listPartsOfThing${index}`, `Section ${index % 10}`) },
    ]),
  ),
})
