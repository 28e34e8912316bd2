import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import type { ArgumentTable } from './argument-tables.ts'

const SIBLINGS = [
  { fishtype: 'shark', age: 6, birthday: '2012-01-05T01:00:00Z', length: 20, species: 'predator' },
  {
    fishtype: 'sawshark',
    age: 105,
    birthday: '1900-01-05T01:00:00Z',
    length: 10,
    picture: '//////4=',
    species: 'dangerous',
  },
  {
    fishtype: 'goblin',
    age: 1,
    birthday: '2015-08-08T00:00:00Z',
    length: 30,
    species: 'scary',
    jawsize: 5,
    color: 'pinkish-gray',
  },
]
const SALMON: JsonObject = {
  fishtype: 'salmon',
  location: 'alaska',
  iswild: true,
  species: 'king',
  length: 1,
  siblings: SIBLINGS,
}

const product = (location: string, name: string) => ({ location, properties: { 'p.name': name, type: 'Flat' } })
const TAGS = { tags: { tag1: 'value1', tag2: 'value3' } }
const RESOURCES = {
  Resource1: { ...product('West US', 'Product1'), ...TAGS },
  Resource2: product('Building 44', 'Product2'),
}
const DETAILS = {
  max_product_display_name: 'max name',
  max_product_capacity: 'Large',
  max_product_image: { '@odata.value': 'http://foo' },
}
const SIMPLE = { base_product_id: '123', base_product_description: 'product description', details: DETAILS }
const BIRTH = { birthdate: '2017-12-13T02:29:51Z', complexProperty: { color: 'Red' } }
const HELLO = { hello: 'world' }

/** Arguments of operations that are about bodies. */
export const ARGUMENTS_OF_BODIES: ArgumentTable = {
  additionalProperties: {
    Pets_CreateAPTrue: { body: { id: 1, name: 'Puppy', ...BIRTH } },
    Pets_CreateCatAPTrue: { body: { id: 1, name: 'Lisa', friendly: true, ...BIRTH } },
    Pets_CreateAPObject: {
      body: { id: 2, name: 'Hira', siblings: [{ id: 1, name: 'Puppy', ...BIRTH }], picture: '//////4=' },
    },
    Pets_CreateAPString: { body: { id: 3, name: 'Tommy', color: 'red', weight: '10 kg', city: 'Bombay' } },
    Pets_CreateAPInProperties: {
      id: 4,
      name: 'Bunny',
      additionalProperties: { height: 5.61, weight: 599, footsize: 11.5 },
    },
    Pets_CreateAPInPropertiesWithAPString: {
      body: {
        id: 5,
        name: 'Funny',
        '@odata.location': 'westus',
        additionalProperties: { height: 5.61, weight: 599, footsize: 11.5 },
        color: 'red',
        city: 'Seattle',
        food: 'tikka masala',
      },
    },
  },
  'any-type': { putObject: { body: { foo: 'bar' } } },
  'azure-parameter-grouping': {
    parameterGrouping_postRequired: { path: 'path', body: 1234, customHeader: 'header', query: 21 },
    parameterGrouping_postOptional: { customHeader: 'header', query: 21 },
    parameterGrouping_postReservedWords: { from: 'bob', accept: 'yes' },
    parameterGrouping_groupWithConstant: { groupedConstant: 'foo', groupedParameter: 'bar' },
    parameterGrouping_postMultiParamGroups: { 'header-one': 'header', 'query-one': 21 },
  },
  'body-array': {
    array_putDateTimeValid: { body: ['2000-12-01T00:00:01Z', '1980-01-02T00:11:35Z', '1492-10-12T10:15:01Z'] },
    array_putDurationValid: { body: ['P123DT22H14M12.011S', 'P5DT1H'] },
  },
  'body-binary': { Upload_File: { body: { more: 'cowbell' } } },
  'body-complex': {
    basic_putValid: { id: 2, name: 'abc', color: 'Magenta' },
    primitive_putDouble: {
      field1: 3e-100,
      field_56_zeros_after_the_dot_and_negative_zero_before_dot_and_th: -5e-57,
    },
    polymorphism_putMissingDiscriminator: { body: SALMON },
    polymorphism_putValidMissingRequired: {},
  },
  'body-datetime': {
    datetime_putUtcMaxDateTime: { body: '9999-12-31T23:59:59.999Z' },
    datetime_putLocalPositiveOffsetMaxDateTime: { body: '9999-12-31T23:59:59.999+14:00' },
    datetime_putLocalNegativeOffsetMaxDateTime: { body: '9999-12-31T23:59:59.999-14:00' },
    datetime_putUtcMaxDateTime7Digits: { body: '9999-12-31T23:59:59.9999999Z' },
  },
  'body-datetime-rfc1123': { datetimerfc1123_putUtcMaxDateTime: { body: 'Fri, 31 Dec 9999 23:59:59 GMT' } },
  'body-dictionary': {
    dictionary_putDateTimeValid: {
      body: { 0: '2000-12-01T00:00:01Z', 1: '1980-01-01T23:11:35Z', 2: '1492-10-12T18:15:01Z' },
    },
    dictionary_putDurationValid: { body: { 0: 'P123DT22H14M12.011S', 1: 'P5DT1H' } },
  },
  'body-duration': { duration_putPositiveDuration: { body: 'P123DT22H14M12.011S' } },
  'body-formdata-urlencoded': {
    formdataurlencoded_updatePetWithForm: { petId: 1, pet_type: 'dog', pet_food: 'meat', name: 'Fido', pet_age: 42 },
    formdataurlencoded_partialConstantBody: { grant_type: 'access_token', access_token: 'foo', service: 'bar' },
  },
  'body-integer': {
    int_putMax32: { body: 2_147_483_647 },
    int_putMin32: { body: -2_147_483_648 },
    int_putMax64: { body: 9_223_372_036_854_776_000 },
    int_putMin64: { body: -9_223_372_036_854_776_000 },
  },
  'body-string': { enum_putReferencedConstant: { ColorConstant: 'green-color' } },
  'body-time': { time_put: { body: '08:07:56' } },
  constants: {
    contants_putClientConstants: { 'path-constant': 'path', 'query-constant': 100, 'header-constant': true },
  },
  'dpg-customization': {
    getModel: [{ mode: 'raw' }, { mode: 'model' }],
    postModel: [
      { mode: 'raw', hello: 'world!' },
      { mode: 'model', hello: 'world!' },
    ],
    getPages: [{ mode: 'raw' }, { mode: 'model' }],
    lro: [{ mode: 'raw' }, { mode: 'model' }],
  },
  'dpg-initial': {
    params_getRequired: { parameter: 'foo' },
    params_putRequiredOptional: { requiredParam: 'foo' },
    params_postParameters: { url: 'http://example.org/myimage.jpeg' },
  },
  'dpg-update1': {
    params_getRequired: { parameter: 'foo', new_parameter: 'bar' },
    params_putRequiredOptional: { requiredParam: 'foo' },
    params_postParameters: { url: 'http://example.org/myimage.jpeg' },
  },
  media_types: {
    AnalyzeBody: { source: 'test' },
    AnalyzeBodyNoAcceptHeader: { source: 'test' },
    contentTypeWithEncoding: { body: 'input' },
    binaryBodyWithTwoContentTypes: { body: HELLO },
    binaryBodyWithThreeContentTypes: { body: HELLO },
    bodyThreeTypes: { body: HELLO },
  },
  'merge-patch': { patchSingle: { body: { foo: 'bar' } } },
  'model-flattening': {
    putArray: { body: [{ location: 'West US', ...TAGS }, { location: 'Building 44' }] },
    putDictionary: { body: RESOURCES },
    putResourceCollection: {
      arrayofresources: [{ ...product('West US', 'Product1'), ...TAGS }, product('East US', 'Product2')],
      dictionaryofresources: RESOURCES,
      productresource: product('India', 'Azure'),
    },
    putSimpleProduct: {
      body: {
        ...SIMPLE,
        details: { ...DETAILS, max_product_image: { '@odata.value': 'http://foo', generic_value: 'https://generic' } },
      },
    },
    postFlattenedSimpleProduct: { body: SIMPLE },
    putSimpleProductWithGrouping: { name: 'groupproduct', body: SIMPLE },
  },
  'multiapi-v0': { OperationGroupOne_testTwo: { 'api-version': '1.0.0' } },
  'multiapi-v1': {
    testOne: { id: 1, 'api-version': '1.0.0' },
    OperationGroupOne_testTwo: { 'api-version': '1.0.0' },
    testDifferentCalls: { 'api-version': '1.0.0', greetingInEnglish: 'hello' },
  },
  'multiapi-v2': {
    testOne: { id: 1, 'api-version': '2.0.0' },
    OperationGroupOne_testTwo: { 'api-version': '2.0.0', body: { id: 1, message: 'x' } },
    OperationGroupOne_testThree: { 'api-version': '2.0.0' },
    OperationGroupTwo_testFour: { 'api-version': '2.0.0', parameterOne: true },
    testDifferentCalls: { 'api-version': '2.0.0', greetingInEnglish: 'hello', greetingInChinese: 'nihao' },
  },
  'multiapi-v3': {
    OperationGroupOne_testTwo: { 'api-version': '3.0.0', optionalProperty: 'x' },
    OperationGroupTwo_testFour: { 'api-version': '3.0.0', source: 'test' },
    OperationGroupTwo_testFive: { 'api-version': '3.0.0' },
    testDifferentCalls: {
      'api-version': '3.0.0',
      greetingInEnglish: 'hello',
      greetingInChinese: 'nihao',
      greetingInFrench: 'bonjour',
    },
  },
  'multiapi-v1-custom-base-url': { test: { id: 1, 'api-version': '1.0.0' } },
  'multiapi-v2-custom-base-url': { test: { id: 2, 'api-version': '2.0.0' } },
  'multiple-inheritance': {
    putHorse: { name: 'General', isAShowHorse: false },
    putPet: { name: 'Butter' },
    putFeline: { meows: false, hisses: true },
    putCat: { name: 'Boots', likesMilk: false, meows: true, hisses: false },
    putKitten: { name: 'Kitty', likesMilk: false, meows: true, hisses: false, eatsMiceYet: true },
  },
  'non-string-enum': { Int_put: { body: 200 }, Float_put: { body: 200.4 } },
  'object-type': { put: { body: { foo: 'bar' } } },
  paging: {
    Paging_getSinglePagesWithBodyParams: { name: 'body' },
    Paging_getWithQueryParams: { requiredQueryParameter: 100, queryConstant: true },
    Paging_nextOperationWithQueryParams: { queryConstant: true },
    Paging_getMultiplePagesWithOffset: { offset: 100 },
    Paging_getMultiplePagesFragmentNextLink: { tenant: 'test_user', api_version: '1.6' },
    Paging_getMultiplePagesFragmentWithGroupingNextLink: { tenant: 'test_user', api_version: '1.6' },
    Paging_nextFragment: { tenant: 'test_user', nextLink: 'next', api_version: '1.6' },
    Paging_nextFragmentWithGrouping: { tenant: 'test_user', nextLink: 'next', api_version: '1.6' },
    Paging_appendApiVersion: { 'api-version': '1.0.0' },
    Paging_replaceApiVersion: { 'api-version': '1.0.0' },
  },
  'reserved-words': {
    operationWithJsonParam: { body: HELLO },
    operationWithDataParam: { data: 'hello', world: 'world' },
  },
  validation: {
    postWithConstantInBody: {
      body: {
        constString: 'constant',
        constInt: 0,
        child: { constProperty: 'constant' },
        constChild: { constProperty: 'constant', constProperty2: 'constant2' },
      },
    },
  },
  'xml-service': { xml_jsonInput: { id: 42 } },
}
