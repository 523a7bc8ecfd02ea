import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { audience, encoded, recipient } from '../../../support/saml/assertion'
import { believed } from '../../../support/saml/grant'

const read = (file: string) => readFileSync(join(__dirname, 'foreign', file), 'utf8')
const certificates = [read('rsa.pem'), read('ec.pem')]
const issuer = 'https://idp.example/metadata'
const trusted = { issuers: [{ issuer, certificates }], audience, recipient }
const seconds = (instant: string) => Date.parse(instant) / 1000

test.each(['xmlsec1-rsa-sha256', 'xmlsec1-rsa-sha512', 'xmlsec1-ecdsa-sha256'])(
  'takes an assertion that xmlsec1 signed: %s',
  async (file) => {
    const assertion = encoded(read(`${file}.xml`))
    expect(await believed(assertion, seconds('2026-11-20T12:00:30Z'), trusted)).toEqual({
      issuer,
      subject: 'alice@idp.example',
      id: expect.stringMatching(/^_(rsa|ec)\d+$/),
      expiresAt: seconds('2026-11-20T12:05:00Z'),
      claims: { email: ['alice@idp.example'], groups: ['editors & <friends>', 'Łódź\ttab'] },
    })
  },
)

test('takes an assertion that the package saml made', async () => {
  const assertion = encoded(read('auth0-saml.xml'))
  expect(await believed(assertion, seconds('2026-11-20T19:37:00Z'), trusted)).toEqual({
    issuer,
    subject: 'alice@idp.example',
    id: '_9uxsxO59L7NzjbwpYIfPz4C771O8Dit0',
    expiresAt: seconds('2026-11-20T19:46:51Z'),
    claims: { email: ['alice@idp.example'], groups: ['editors', 'readers'] },
  })
})

test.each(['xmlsec1-rsa-sha256', 'auth0-saml'])('refuses it with one letter changed: %s', async (file) => {
  const now = seconds(file === 'auth0-saml' ? '2026-11-20T19:37:00Z' : '2026-11-20T12:00:30Z')
  const changed = read(`${file}.xml`).replace('>alice@idp.example</saml', '>malice@idp.example</saml')
  await expect(believed(encoded(changed), now, trusted)).rejects.toMatchObject({ code: 'invalid_grant' })
})
