export { legacyTokens } from '../legacy-tokens/legacy-tokens'
export type {
  LegacyToken,
  LegacyTokenKind,
  LegacyTokensOptions,
} from '../legacy-tokens/legacy-tokens-options'
