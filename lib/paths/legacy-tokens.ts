export {
  legacyTokens,
  type LegacyToken,
  type LegacyTokenKind,
  type LegacyTokensOptions,
} from '../legacy-tokens/legacy-tokens'
