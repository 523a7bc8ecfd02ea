export { mac, type MacOptions, type MacAlgorithm } from '../extensions/token-types/mac'
