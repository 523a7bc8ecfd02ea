import { formTargetsOf } from '../../lib/http/response'

describe('formTargetsOf', () => {
  it.each([
    ['https://printer.example/callback', ['https:']],
    ['http://[::1]:8080/cb', ['https:', 'http:']],
    ['com.example.app:/cb', ['https:', 'com.example.app:']],
    ['COM.Example:/cb', ['https:', 'com.example:']],
  ])('of %s are schemes: %j', (redirectUri, targets) => {
    expect(formTargetsOf(redirectUri)).toEqual(targets)
  })
})
