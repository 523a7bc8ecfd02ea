import table from '../../lib/protocol/refusal-table.json'
import { photoBook } from '../support/flows/clients'
import { assertions, samlAssertions } from './provoked/assertions'
import { authorize, sentRequests } from './provoked/authorize'
import { guards, introspections, jwts, macs, proofs } from './provoked/guards'
import { logins, signing } from './provoked/openid'
import { documents, registrations } from './provoked/registration'
import { open, sentencesOf, twice } from './provoked/provoke'
import { clientAuthentication, requests } from './provoked/requests'
import { devices, exchanges, grants, passwords, targets } from './provoked/token'

const ofEndpoints = [requests, clientAuthentication, authorize, sentRequests, logins, signing]
const ofGrants = [grants, passwords, targets, exchanges, devices, assertions, samlAssertions]
const ofOthers = [guards, macs, proofs, jwts, introspections, registrations, documents]
const areas = [...ofEndpoints, ...ofGrants, ...ofOthers]

const usual = process.env['NODE_ENV']
const warned: string[] = []
beforeEach(() => {
  process.env['NODE_ENV'] = 'development'
  warned.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation((message) => void warned.push(String(message)))
})
afterEach(() => {
  process.env['NODE_ENV'] = usual
  jest.restoreAllMocks()
})

test.each(areas)(
  'each reason of $title refuses a request, and the host reads its cure',
  async ({ provoke }) => {
    expect(await provoke(warned)).toEqual([])
  },
)

test('each reason of the table, in each of its cases, is provoked', () => {
  expect(areas.flatMap(({ names }) => names).toSorted()).toEqual(Object.keys(table).toSorted())
})

test('a refusal is explained once', async () => {
  const { flow } = open()
  await twice(() => flow.redeem(photoBook, 'x'))
  expect(warned.filter((text) => text.startsWith('A request'))).toHaveLength(1)
})

// RFC 6749 5.2 and 8.5.
const code = /^[a-z_]*$/
const sendable = /^[\x20\x21\x23-\x5B\x5D-\x7E]*$/
const sentence = /^[A-Z].*[.)]$/

test('each row has a code, words that may be sent, and sentences, and a case stands beside its reason', () => {
  const faulty = Object.entries(table).filter(
    ([name, { error, words, ...row }]) =>
      !/^[a-z0-9_]+(?:\/[a-z0-9_]+)?$/.test(name) ||
      !(name.replace(/\/.*/, '') in table) ||
      !code.test(error) ||
      !sendable.test(words) ||
      !sentencesOf(row).every((text) => sentence.test(text)),
  )
  expect(faulty).toEqual([])
})
