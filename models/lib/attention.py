"""One layer of self-attention without a mask: Vaswani et al., Attention Is All You Need, NeurIPS 2017; 512 wide, 8 heads."""

from transformer import Transformer, tokens

WIDTH, HEADS = 512, 8


def layer(length):
    net = Transformer(lambda rng, count: {"x": tokens(rng, count, length, WIDTH)})
    net.outputs.append(net.attention("attention", net.input("x", 1, length, WIDTH), HEADS))
    return net


def attention_1024():
    return layer(1024)


def attention_4096():
    return layer(4096)
