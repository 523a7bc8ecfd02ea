import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import { groupsOf } from '../../lib/limits/network'

/** A key with its certificate, in the form of the options of `node:https`. */
export interface KeyAndCertificate {
  /** PEM. */
  readonly key: string
  /** PEM. */
  readonly cert: string
}

/**
 * A certificate authority that no computer knows: a client trusts its certificates by the option `ca`. P-256 keys,
 * X.509 version 3 (RFC 5280).
 */
export class CertificateAuthority {
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  private readonly name = 'A certificate authority of tests'
  /** The certificate of the authority itself, PEM. */
  readonly ca = this.certify(this.name, this.keys.publicKey, [
    extension('2.5.29.19', sequence(boolean(true))),
    extension('2.5.29.15', bits(Buffer.of(0b10000110), 1)),
  ])

  /** Its own certificate as any client or server may have one: self-signed. */
  get own(): KeyAndCertificate {
    return { key: pemOf(this.keys.privateKey), cert: this.ca }
  }

  /** Makes a key and a certificate for names and IP addresses, from yesterday until the given number of days from now. */
  issue(names: readonly string[], days = 1, organization?: string): KeyAndCertificate {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const alternatives = extension('2.5.29.17', sequence(...names.map(generalName)))
    const cert = this.certify(names[0] ?? '', publicKey, [alternatives], days, organization)
    return { key: pemOf(privateKey), cert }
  }

  private certify(
    subject: string,
    key: KeyObject,
    extensions: readonly Buffer[],
    days = 1,
    organization?: string,
  ): string {
    const ecdsaWithSha256 = sequence(identifier('1.2.840.10045.4.3.2'))
    const content = sequence(
      tagged(0xa0, integer(Buffer.of(2))),
      integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
      ecdsaWithSha256,
      nameOf(this.name),
      sequence(time(-1), time(days)),
      nameOf(subject, organization),
      createPublicKey(key.export({ type: 'spki', format: 'pem' })).export({ type: 'spki', format: 'der' }),
      tagged(0xa3, sequence(...extensions)),
    )
    const certificate = sequence(
      content,
      ecdsaWithSha256,
      bits(sign('sha256', content, this.keys.privateKey)),
    )
    const lines = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n')
    return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
  }
}

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

// DER (X.690): a tag, a length, contents.
function tagged(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...head), content])
}

const sequence = (...members: readonly Buffer[]) => tagged(0x30, ...members)
const integer = (bytes: Buffer) => tagged(0x02, bytes)
const boolean = (value: boolean) => tagged(0x01, Buffer.of(value ? 255 : 0))
const bits = (bytes: Buffer, unused = 0) => tagged(0x03, Buffer.of(unused), bytes)

function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number)
  const septets = (value: number): readonly number[] =>
    value < 128 ? [value] : [...septets(value >> 7).map((byte) => byte | 128), value & 127]
  return tagged(0x06, Buffer.from([first * 40 + second, ...others].flatMap(septets)))
}

const attribute = (id: string, text: string) =>
  tagged(0x31, sequence(identifier(id), tagged(0x0c, Buffer.from(text))))

const nameOf = (commonName: string, organization?: string) =>
  sequence(
    ...(organization === undefined ? [] : [attribute('2.5.4.10', organization)]),
    attribute('2.5.4.3', commonName),
  )

const extension = (id: string, value: Buffer) => sequence(identifier(id), boolean(true), tagged(0x04, value))

function time(days: number): Buffer {
  const digits = new Date(Date.now() + days * 86_400_000).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  return tagged(0x18, Buffer.from(digits))
}

function generalName(name: string): Buffer {
  if (isIP(name) === 0) return tagged(0x82, Buffer.from(name))
  if (isIPv4(name)) return tagged(0x87, Buffer.from(name.split('.').map(Number)))
  return tagged(0x87, Buffer.from(groupsOf(name).flatMap((group) => [group >> 8, group & 255])))
}
