export * from '../legacy-tokens/legacy-tokens'
