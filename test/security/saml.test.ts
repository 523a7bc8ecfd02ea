import { saml2Bearer } from '../../lib/index'
import { noon } from '../support/authorization/issue-context'
import { bent, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { encoded } from '../support/saml/assertion'
import { forgeries, genuine } from '../support/saml/forgeries'
import { options } from '../support/saml/grant'

const grantType = saml2Bearer(options)
const grant_type = grantType.name
const desk = bent(photoPrint, { grant_types: [grant_type], redirect_uris: [] })

/** An attacker who has seen a genuine assertion presents all forgeries of these titles, and then the good one: what comes of it. */
async function afterForging(titles: RegExp, atLeast: number): Promise<string> {
  const { flow } = setStage({
    grantTypes: [grantType],
    clients: [desk.registration],
    clock: () => noon * 1000,
  })
  const present = (assertion: string) => flow.request(desk, { grant_type, assertion, scope: 'photos:read' })
  const chosen = forgeries.filter(([title]) => titles.test(title))
  expect(chosen.length).toBeGreaterThanOrEqual(atLeast)
  for (const [, , assertion] of chosen)
    expect(refusalOf(await present(assertion))).toMatch(/^400 invalid_(grant|request)$/)
  const { accessToken } = tokensOf(await present(encoded(genuine)))
  return String((await flow.photos(accessToken)).body.subject)
}

test('an assertion that is wrapped around a signed one, or stands beside it, is not believed [saml-1]', async () => {
  expect(await afterForging(/^XSW|^…|^the signed assertion as|side by side|^an envelope/, 14)).toBe('alice')
})

test('an assertion without a signature of its own is not believed [saml-2]', async () => {
  expect(
    await afterForging(/^no signature|^the signature of another|deeper inside|of another vocabulary/, 4),
  ).toBe('alice')
})

test('a digest with a comment in it, or a second one, is not believed [saml-3]', async () => {
  expect(await afterForging(/DigestValue/, 3)).toBe('alice')
})

test('a second SignedInfo, Reference or signature is not believed [saml-4]', async () => {
  expect(await afterForging(/^two (SignedInfo|References|signatures)/, 3)).toBe('alice')
})

test('a comment, a CDATA section or an instruction cuts no name short [saml-5]', async () => {
  expect(await afterForging(/in NameID$/, 3)).toBe('alice')
})

test('a document type, an external entity or a bomb of entities is refused unread [saml-6]', async () => {
  expect(await afterForging(/DOCTYPE|entity|billion|blowup/, 4)).toBe('alice')
})

test('a transform that runs code or leaves out the subject is refused [saml-7]', async () => {
  expect(await afterForging(/transform/, 5)).toBe('alice')
})

test('a key that an assertion brings along, or that of an unknown issuer, is not believed [saml-8]', async () => {
  expect(await afterForging(/KeyInfo|unknown issuer/, 2)).toBe('alice')
})

test('an assertion that another trusted issuer signed is not believed [saml-9]', async () => {
  expect(await afterForging(/another trusted issuer|changed to the one/, 2)).toBe('alice')
})

test('an assertion for another audience or recipient is refused [saml-10]', async () => {
  expect(await afterForging(/another (audience|recipient)$|no (audience|recipient)/, 4)).toBe('alice')
})

test('SHA-1 and other weak algorithms are refused [saml-11]', async () => {
  expect(await afterForging(/SHA-1|^DSA/, 3)).toBe('alice')
})

test('a document that is deep, wide or large is refused [saml-12]', async () => {
  expect(await afterForging(/^nesting|10 000 elements|attributes|more than fits/, 5)).toBe('alice')
})
