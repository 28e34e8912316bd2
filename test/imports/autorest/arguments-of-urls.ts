import { type ArgumentTable, MULTIBYTE, SPECIAL } from './argument-tables.ts'

const PATH_ITEMS = {
  globalStringPath: 'globalStringPath',
  pathItemStringPath: 'pathItemStringPath',
  localStringPath: 'localStringPath',
}
const GLOBAL = { globalStringQuery: 'globalStringQuery' }
const ITEM = { pathItemStringQuery: 'pathItemStringQuery' }
const LOCAL = { localStringQuery: 'localStringQuery' }
const LIST = ['ArrayQuery1', SPECIAL, '', '']
const FEW = ['hello', 'nihao', 'bonjour']

const positiveOrNegative = (positive: number, negative: number) => [
  { scenario: 'positive', value: positive },
  { scenario: 'negative', value: negative },
]
const scenarios = (...names: string[]) => names.map(scenario => ({ scenario }))

/** Arguments of operations that are about URLs and headers. */
export const ARGUMENTS_OF_URLS: ArgumentTable = {
  url: {
    paths_enumValid: { enumPath: 'green color' },
    paths_byteMultiByte: { bytePath: MULTIBYTE },
    paths_stringEmpty: { stringPath: '' },
    paths_byteEmpty: { bytePath: '' },
    paths_base64Url: { base64UrlPath: 'bG9yZW0' },
    paths_ArrayCsvInPath: { arrayPath: ['ArrayPath1', SPECIAL, '', ''] },
    paths_unixTimeUrl: { unixTimeUrlPath: 1_460_505_600 },
    queries_stringEmpty: { stringQuery: '' },
    queries_byteEmpty: { byteQuery: '' },
    queries_stringUrlEncoded: { stringQuery: SPECIAL },
    queries_enumValid: { enumQuery: 'green color' },
    queries_byteMultiByte: { byteQuery: MULTIBYTE },
    queries_ArrayStringCsvValid: { arrayQuery: LIST },
    queries_ArrayStringCsvEmpty: { arrayQuery: [''] },
    queries_ArrayStringNoCollectionFormatEmpty: { arrayQuery: FEW },
    queries_ArrayStringSsvValid: { arrayQuery: LIST },
    queries_ArrayStringTsvValid: { arrayQuery: LIST },
    queries_ArrayStringPipesValid: { arrayQuery: LIST },
    pathItems_getAllWithValues: { ...PATH_ITEMS, ...GLOBAL, ...ITEM, ...LOCAL },
    pathItems_getGlobalQueryNull: { ...PATH_ITEMS, ...ITEM, ...LOCAL },
    pathItems_getGlobalAndLocalQueryNull: { ...PATH_ITEMS, ...ITEM },
    pathItems_getLocalPathItemQueryNull: { ...PATH_ITEMS, ...GLOBAL },
  },
  'url-multi-collectionFormat': { queries_ArrayStringMultiValid: { arrayQuery: LIST } },
  header: {
    header_paramExistingKey: { 'User-Agent': 'overwrite' },
    header_paramInteger: positiveOrNegative(1, -2),
    header_responseInteger: scenarios('positive', 'negative'),
    header_paramLong: positiveOrNegative(105, -2),
    header_responseLong: scenarios('positive', 'negative'),
    header_paramFloat: positiveOrNegative(0.07, -3),
    header_responseFloat: scenarios('positive', 'negative'),
    header_paramDouble: positiveOrNegative(7e120, -3),
    header_responseDouble: scenarios('positive', 'negative'),
    header_paramBool: [
      { scenario: 'true', value: true },
      { scenario: 'false', value: false },
    ],
    header_responseBool: scenarios('true', 'false'),
    header_paramString: [
      { scenario: 'valid', value: 'The quick brown fox jumps over the lazy dog' },
      { scenario: 'empty', value: '' },
      ...scenarios('null'),
    ],
    header_responseString: scenarios('valid', 'null', 'empty'),
    header_paramDate: [
      { scenario: 'valid', value: '2010-01-01' },
      { scenario: 'min', value: '0001-01-01' },
    ],
    header_responseDate: scenarios('valid', 'min'),
    header_paramDatetime: [
      { scenario: 'valid', value: '2010-01-01T12:34:56Z' },
      { scenario: 'min', value: '0001-01-01T00:00:00Z' },
    ],
    header_responseDatetime: scenarios('valid', 'min'),
    header_paramDatetimeRfc1123: [
      { scenario: 'valid', value: 'Fri, 01 Jan 2010 12:34:56 GMT' },
      { scenario: 'min', value: 'Mon, 01 Jan 0001 00:00:00 GMT' },
    ],
    header_responseDatetimeRfc1123: scenarios('valid', 'min'),
    header_paramDuration: { scenario: 'valid', value: 'P123DT22H14M12.011S' },
    header_responseDuration: scenarios('valid'),
    header_paramByte: { scenario: 'valid', value: MULTIBYTE },
    header_responseByte: scenarios('valid'),
    header_paramEnum: [{ scenario: 'valid', value: 'GREY' }, ...scenarios('null')],
    header_responseEnum: scenarios('valid', 'null'),
  },
  'azure-special-properties': {
    skipUrlEncoding_getMethodQueryValid: { q1: 'value1&q2=value2&q3=value3' },
    skipUrlEncoding_getPathQueryValid: { q1: 'value1&q2=value2&q3=value3' },
    skipUrlEncoding_getSwaggerQueryValid: { q1: 'value1&q2=value2&q3=value3' },
    odata_getWithFilter: { _filter: "id gt 5 and name eq 'foo'", _top: 10, _orderby: 'id' },
    header_customNamedRequestId: { 'foo-client-request-id': '9C4D50EE-2D56-4CD3-8152-34347DC9F2B0' },
    header_customNamedRequestIdParamGrouping: { 'foo-client-request-id': '9C4D50EE-2D56-4CD3-8152-34347DC9F2B0' },
    header_customNamedRequestIdHead: { 'foo-client-request-id': '9C4D50EE-2D56-4CD3-8152-34347DC9F2B0' },
  },
  'custom-baseUrl-more-options': {
    paths_getEmpty: { subscriptionId: 'test12', keyName: 'key1', keyVersion: 'v1' },
  },
  'subscriptionId-apiVersion': {
    group_getSampleResourceGroup: {
      subscriptionId: '1234',
      resourceGroupName: 'testgroup101',
      'api-version': '2014-04-01-preview',
    },
  },
  'xms-error-responses': {
    Pet_GetPetById: ['tommy', 'django', 'coyoteUgly', 'weirdAlYankovic', 'ringo', 'alien123'].map(petId => ({ petId })),
    Pet_DoSomething: ['stay', 'jump', 'fetch'].map(whatAction => ({ whatAction })),
    Pet_HasModelsParam: { models: 'value1' },
  },
  'extensible-enums-swagger': {
    Pet_GetByPetId: ['tommy', 'casper', 'scooby'].map(petId => ({ petId })),
    Pet_AddPet: { body: { name: 'Retriever', IntEnum: '3', DaysOfWeek: 'Friday' } },
  },
  'reserved-words': {
    operationWithUrl: { url: 'foo', headerParameters: 'x', queryParameters: ['one', 'two'] },
    reservedEnum: { enumParameter: 'import' },
  },
}
