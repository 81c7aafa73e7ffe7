/* chunk.c -- the gear hash and its table. */
#include "base/chunk.h"

#define WINDOW 64u /* bytes that h still knows of: each shift drops the oldest */
#define AVG_BITS 10u

_Static_assert(VLS_CHUNK_MIN >= WINDOW, "a whole window is known where a chunk may end");
_Static_assert(VLS_CHUNK_AVG == 1u << AVG_BITS, "that many bits are zero");

/* gear[i] is the first 8 bytes, big endian, of the SHA-256 of "valise.gear.0" to
 * "valise.gear.255". A test makes it again. */
static const uint64_t gear[256] = {
    0xc75f7ebdbe3c46f1, 0xe3b342443e13dbed, 0x3ff56c0508e155f5, 0xdf576e6f95c2378a,
    0x70907119596a6859, 0x308c80b8f22faa30, 0x6f31be4d6b523f9f, 0x3255abb1165590ae,
    0xa1f140e1cad04a7f, 0x2bfe46c1f97ca977, 0x51945ee68398da16, 0xd6b00835616ef15c,
    0x0f017f357e724b3e, 0xf9fdb12fbe583d9e, 0xb483e5bcbc072335, 0x4b7b7c336d7b107d,
    0x7e24574498183c79, 0x9f20e7301ce45bbb, 0x300de6ca542bef64, 0xd75304f871f746f9,
    0x7de0d7d32742d877, 0x10fc60847cfc317c, 0x14b759a725c2083b, 0x064d10550cd5de2f,
    0x3d87c56e369dcc92, 0xc6376da568859782, 0x2a29104399cdfe79, 0xcad68fc88a0cc01f,
    0x04e4e8cf85d77468, 0xdd1c7cb6e2ccc3bf, 0xc8874b243ea51b6c, 0xb20ae32721889c79,
    0xd009d10957b66d0b, 0xfbd9c7f2ae333426, 0x91ae231cf3b0fbeb, 0xa1309324a5423ea3,
    0xcff3a5f14d61308f, 0xa4588a90d8612c8e, 0xa7323b0db485140f, 0x60a786116c9276bf,
    0x9114da44f096043d, 0x4e1ab21587c66e78, 0x45abe7549069828e, 0x10ff5ffda1ddbc34,
    0x18067b340f5da732, 0xc8a071be1c6bc3b4, 0xe0d49184b4b0ec76, 0x2224fb75cf70a667,
    0xfce789587ea0df3c, 0xb76a921683e887c9, 0xd0fad35ce7c82d77, 0xc103da26b83f2451,
    0x00fd8e47e90040d8, 0x969dc0c162f1dd2a, 0x978a5d0e974b39bf, 0x58b7941f1f9a3247,
    0x8e0e9996985e2bcd, 0xfd3f4f122d6c9c68, 0xc1bcf247f13a9645, 0x1ea0750cf9adc24f,
    0x081b9386b3f1daa6, 0x06d291ce805766d3, 0xf4003759ec0d3480, 0xf1a93a45d9faac19,
    0xcd2468f37d9d0f1c, 0xe18730a9b8cc4846, 0xb160ea825bb2d681, 0x708bdb4c0b1192ad,
    0x1dafeeb0696b5e01, 0x1241b6df192725ea, 0x261ab776c9e15205, 0x2b95b12065bdbbc3,
    0x349ba0c324a63cce, 0x8e4392bbd0a86d09, 0x569dc3ef84f2ae98, 0xdc85727477397438,
    0x793a280f06fbfc09, 0x32399f5e5c2b8485, 0xa6b8a31c365ed9af, 0xdc64d91423b3d406,
    0xe7d92f3c7d43674c, 0xa2c3059f07a9d21e, 0xd86353a268083eb2, 0xb129d72d9fb2711f,
    0x77e04325a356a32b, 0xd4d7cd74b6ddeb59, 0x0303320e74ada10a, 0x349fee4e21af4b66,
    0x75691ea9781e3c75, 0x3ab2c78c8fec47f0, 0x047c6b67b69465f1, 0xaeb0af1e733e5ca1,
    0xd54556dc13db0b62, 0x6180318a790d1b8f, 0x61c0d6ef1cc446da, 0xe323f5ddb74a6950,
    0x6e564791f54c54ff, 0xb58229a5069c5035, 0xcd93a491484aa655, 0x7f1244cb164fe6ff,
    0xeda6f20d736fba87, 0xfdf04ba40e82974c, 0x2c7c9a4d4e6a51b1, 0xb4b397be4edff849,
    0xdfddcf24df427113, 0xf3fa5205ae346f31, 0xd5ad9c0ded745c3a, 0xa78b001c4f60b9f3,
    0x7400db4a5348a75a, 0xa7979aa63a836739, 0xf27478b5445f96a0, 0xcf6ada63b563a75b,
    0x35f7c40f617c575a, 0x8659a49d07707a2b, 0xd08208d2e0697db1, 0xda1e3ce552456cd1,
    0x1f2dd84697651cbf, 0xe94d9ad7cbdde178, 0x6509eb34158c2de7, 0x03c503eecc0dfecb,
    0x6216d5bdd179e33c, 0x2235733991a91214, 0x06eec504313ea010, 0x52cf2df375ffdcf3,
    0x7c20277a8152a122, 0xa70ddb14011414b1, 0xc4bd368242fd2880, 0x24fdeb014fd7f727,
    0xe4db587da02c24aa, 0xcce5a358f275de73, 0xcc2ec728816499cc, 0xf39865b34f72e347,
    0xb3abdb0946cee960, 0x1c08b006b4e8aa6b, 0xe2de941fd6f191c6, 0x4cdf39d907f61948,
    0x9d580715d004ca64, 0x2d9d484039e53456, 0xf48e7c511d18f72c, 0xec63cda6ab559b53,
    0xe052053fb9ddac9f, 0x8be81b24580e4601, 0x937eed941dcbf25b, 0x6ad1b497a0ec836e,
    0xcf4a806a9a86e770, 0xe4b3fb0a97b30704, 0x345b2fe80944e082, 0x88a5a31fb6f2de56,
    0x4ed9c4b6b08128d9, 0x02b56df35c4e0c5c, 0x1d197015df08d0aa, 0x2918fc4c006130be,
    0x482504e47db9fe7d, 0x18792395df57e38a, 0x8986a33b6283f812, 0x28b17d45499a76c6,
    0x8085920a53d71389, 0x6d7c28eb6373d5fb, 0xc6d738ecef9f0820, 0x888ff3b81cb44a97,
    0x6d8b05a4fea1667f, 0xf454913ac74381d5, 0xeb7564f0cacd4a2f, 0xff80620c37755b58,
    0xcda0094fdbdee61a, 0xdc3668cc3be0ec93, 0x5e5ccd0a0c383920, 0xfeafcbdc6c02b2a5,
    0x7308635057e70dc8, 0x52bdd05dc8472cce, 0xbc88e8a5b03260a7, 0xe278309cfeeb24e1,
    0xbb581ae5b6c397df, 0x65a1c2fe7aa1d360, 0x74ec41af2e211e3d, 0x08d751bbdf94c6ab,
    0x835347b9d9cbc6f4, 0x218b705de12e183a, 0x7037c6f26a72bc09, 0x20442004d2713787,
    0xe711e2f5194c5ce1, 0xd70c78706f97829f, 0xcb7eeb8252e6de8e, 0x4dba7ae6e2006a92,
    0x49c4e266f8abd261, 0x6e708ccd427bbc8a, 0x279f87764ddee6d2, 0x968ba888468c7bdd,
    0xf436aeac23180f12, 0xc08eddb5c9444aeb, 0xb5e698651eec4e01, 0x2bcc5936e24413c4,
    0x9b4896fa92a7000c, 0xf4a4873d4397b2a4, 0x81eb020784c968d2, 0x6b3b103869ca804b,
    0x017979daac151f8e, 0x691ffcf89e762082, 0x88954733b1132a55, 0xfda4b68db1abd1d2,
    0x597d52f9739e7a33, 0x4e26f3b7576c9907, 0xc219c5cc678e333e, 0x4943006bfaebc791,
    0xd9e0f97ab4cbca57, 0x5cc7dd52c51e2afd, 0x32eb5743980c1a69, 0x24ffc67f871fecf0,
    0x4f3376fc056116ec, 0xaadec5010c624f32, 0x710b81e0afbdb6f3, 0xd95a40b145aefc86,
    0xe93ded2f4912cde9, 0xc3f39718f4d71b7b, 0x19e79d63f95dd5d0, 0x179bf3f634846356,
    0x3fc42c42efacf311, 0xa5a88d43cfa65e82, 0xbc1048d23c76a01a, 0x524b53e2a9f965e8,
    0x568983674bd2764b, 0x03030b8907378cfc, 0x801acd155fe9d5c4, 0xe6b6f64e14544e81,
    0xaae333a75bada537, 0x6968957d3598b210, 0xe212fab501118ba4, 0x8aedac9045121aaa,
    0x04246aec52ce55d0, 0xed688b9fca1d8237, 0xcfcc8a5a21c47e7b, 0x1385be5adecb087b,
    0x53e955086e26afb9, 0x3593d1a103c4f71b, 0xefdc5588b6f3b7f7, 0x2c1d1e50f0b0e683,
    0x17354211d9955969, 0xd1dcd7a5535e7b71, 0x6aad2fcb6d6e061e, 0x9c4e89e3474110a3,
    0x0eb32dae590a8957, 0x8d61ee117d7716de, 0x50122fd0e974b2e0, 0x39f0c3d7d933baa7,
    0x1e53ebd9a9551d15, 0xfd4b320592b8c191, 0x066a3457804c8446, 0x07b651ede52d9798,
    0x0e4473fa00706bb7, 0x6a11af54c98ef665, 0xf47fa8f582d3ee0b, 0x76101e93799d3ff1,
    0xc1130c3159bceeac, 0x7341dd1e4decad34, 0x9e7ea904e1357a9c, 0xb5176f17a198a292,
};

/* Roll from `at` to `end` and return the length of the chunk that ends there; 0 when none does.
 * `at` is the byte that comes next; *hash goes in and out. */
static inline size_t roll(uint64_t *hash, const uint8_t *bytes, size_t at, size_t end,
                          uint64_t mask)
{
    uint64_t h = *hash;

    for (; at < end; at++) {
        h = (h << 1) + gear[bytes[at]];
        if (VLS_UNLIKELY((h & mask) == 0))
            return at + 1;
    }
    *hash = h;
    return 0;
}

/* The highest `bits` bits. */
#define HIGH_BITS(bits) (~UINT64_C(0) << (64 - (bits)))

size_t vls_chunk_next(const uint8_t *bytes, size_t len)
{
    size_t end = VLS_MIN(len, VLS_CHUNK_MAX);
    size_t middle = VLS_MIN(end, VLS_CHUNK_AVG - VLS_CHUNK_AVG / 5);
    uint64_t hash = 0;
    size_t cut;

    if (len <= VLS_CHUNK_MIN)
        return len;

    /* The first place for a cut is behind byte min - 1; the hash must know a whole window there,
     * or the cut would depend on where the chunk began. */
    for (size_t at = VLS_CHUNK_MIN - WINDOW; at < VLS_CHUNK_MIN - 1; at++)
        hash = (hash << 1) + gear[bytes[at]];
    cut = roll(&hash, bytes, VLS_CHUNK_MIN - 1, middle, HIGH_BITS(AVG_BITS + 2));
    if (cut == 0)
        cut = roll(&hash, bytes, middle, end, HIGH_BITS(AVG_BITS - 2));
    return cut ? cut : end;
}
