import { isTexts, type OptionsReader } from '../protocol/configuration'

// RFC 7518 3.1 and RFC 8037 3.1, RFC 9864 2.2: signatures by a private key alone; neither `none` nor a shared secret.
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/** Reads the option `algorithms`: all asymmetric ones, where it is left out. */
export function readAlgorithms(reading: OptionsReader): readonly string[] {
  const cure = `must be a list of ${algorithms.join(', ')}.`
  return reading.optional('algorithms', algorithms, isAlgorithms, cure)
}

const isAlgorithms = (value: unknown): value is readonly string[] =>
  isTexts(value) && value.length > 0 && value.every((name) => algorithms.includes(name))
